"""placeholder"""
Calibration = object
