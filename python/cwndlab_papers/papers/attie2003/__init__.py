"""attie2003: Bimodal congestion avoidance beside AIMD, in the synchronous model and over TCP."""
