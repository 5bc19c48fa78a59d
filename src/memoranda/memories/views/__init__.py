"""What people and runs read of memories."""
