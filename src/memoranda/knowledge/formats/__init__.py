"""Formats that libraries read: PDF, DOCX, HTML and CSV, each in a process of its own."""
