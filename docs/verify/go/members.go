// Members of Algorand's maps, as msgpack has them.

package main

// readInteger gives a member that is one, 0 where it is not there.
func readInteger(value []byte) uint64 {
	if value == nil {
		return 0
	}
	reader := msgpack{data: value}
	number := reader.uint(1, 0)
	require(number < 0x80 || number >= 0xcc && number <= 0xcf, "not an integer")
	if number >= 0x80 {
		number = reader.uint(1<<(number-0xcc), 0)
	}
	return number
}

// readDigest gives 32 bytes.
func readDigest(value []byte) []byte {
	require(len(value) == 34 && value[0] == 0xc4, "not 32 bytes")
	return value[2:]
}
