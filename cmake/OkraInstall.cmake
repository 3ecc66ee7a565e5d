# Installation is completed in this file.
