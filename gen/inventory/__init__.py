"""What the job files of a repository ask for, read without rendering them."""
