"""Runs with the program `cwndlab-live`, and with Linux kernels in virtual time.

Kernels are built (`building`), found by name (`kernels`), and run a scenario (`virtual`) at their
own speed; the program itself is found by `program` and spoken to by `protocol`.
"""
