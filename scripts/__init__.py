"""What developers run; nothing here is part of the product."""
