"""`python -m cwndlab` is the command line."""

from cwndlab.cli import main

if __name__ == "__main__":
    main()
