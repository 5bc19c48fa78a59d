"""The shared vocabulary: values and pure functions that every other floor may use."""
