"""How `unpack_class` frames what it sends, for both ends: a length in front of each header and each chunk."""

import struct

LENGTH = struct.Struct("<I")
#: In the place of a chunk's length: the file is whole, or cannot be read.
DONE, DAMAGED = 0, 0xFFFFFFFF
