"""K. Chandrayana et al., *Comparative Study of TCP Compatible Binomial Schemes*, 2002.

README.md here says more.
"""
