"""The smoke job: start what a job would launch, for minutes, and say how that went."""
