"""What clusters have: the only room that talks to them. It only reads."""
