"""What tuning gains and takes, beside the default and a vendor's library, in one run."""
