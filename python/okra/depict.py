"""``python3 -m okra.depict``: see ``okra_report.molecules``."""
import sys

from okra_report.molecules import main, molecule, result

__all__ = ["molecule", "result"]

if __name__ == "__main__":
    sys.exit(main())
