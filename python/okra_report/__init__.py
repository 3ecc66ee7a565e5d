"""Pages and figures of okra's results: the program ``okra-report``.

It needs matplotlib and Jinja2, networkx for networks, and RDKit to draw molecules (without it
their SMILES are written). It does not import the package okra, so it starts fast and works
beside any version of it; docs/results-format.md is all that the two share.
"""
