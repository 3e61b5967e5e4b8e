// RLP, in which everything has one encoding.

package main

import "math/big"

// An item of RLP: whether it is a list, as it is encoded, and what it holds.
type rlp struct {
	isList           bool
	encoded, payload []byte
}

// readList gives the items of a list.
func readList(data []byte) (items []rlp) {
	list := readItem(data)
	require(list.isList && len(list.encoded) == len(data), "RLP: not one list")
	for left := list.payload; len(left) > 0; left = left[len(items[len(items)-1].encoded):] {
		items = append(items, readItem(left))
	}
	return items
}

func readItem(data []byte) rlp {
	first := uint64(data[0])
	start, length := uint64(1), first-0x80
	switch {
	case first < 0x80:
		start, length = 0, 1
	case first >= 0xc0:
		length = first - 0xc0
	}
	if length > 55 {
		start = length - 54
		number := rlp{payload: data[1:start]}.integer()
		require(number.IsUint64() && number.Uint64() > 55, "RLP: not in its shortest form")
		length = number.Uint64()
	}
	require(length <= uint64(len(data))-start, "RLP: truncated")
	item := rlp{first >= 0xc0, data[:start+length], data[start : start+length]}
	require(start != 1 || length != 1 || item.isList || item.payload[0] >= 0x80, "RLP: not in its shortest form")
	return item
}

func (item rlp) integer() *big.Int {
	require(!item.isList && (len(item.payload) == 0 || item.payload[0] != 0), "RLP: no integer")
	return new(big.Int).SetBytes(item.payload)
}
