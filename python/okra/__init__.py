from . import _library
