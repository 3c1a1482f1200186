"""Y. R. Yang, S. S. Lam, *General AIMD Congestion Control*, TR-2000-09, 2000.

README.md beside this file says more.
"""
