"""``python -m milpbn`` is the command line."""

from milpbn.cli import main

if __name__ == "__main__":
    main()
