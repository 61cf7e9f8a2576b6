"""Commands, one file each: a request in, a result out. Nothing here prints."""
