"""The operations of the API as functions, each of which describes one call: nothing is sent yet."""
