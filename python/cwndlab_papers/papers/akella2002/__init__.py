"""A. Akella et al., *Exploring Congestion Control*, CMU-CS-02-139, 2002.

README.md beside this file says more.
"""
