"""Rules of operators: objects that their webhooks or controllers reject, or treat differently than written."""
