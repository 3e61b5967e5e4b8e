// What a verifier must know of Base: the ids of transactions and blocks, and the way from the one to the other.

package main

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/big"
)

const (
	baseNetwork  = "eip155:8453"
	deposit      = 0x7e
	headerFields = "hhahhhBqqqqqbhNqhqqhhhq"
)

// The fields of each type of transaction: legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702, a deposit of the OP Stack.
var transactionFields = map[byte]string{
	0: "qqqoqbqqq", 1: "cqqqoqblqqq", 2: "cqqqqoqblqqq", 3: "cqqqqaqblqlqqq", 4: "cqqqqaqbllqqq", deposit: "haoqqqqb",
}

type base struct{}

func (base) levels() []string { return []string{"included", "safe", "finalized"} }
func (base) canFail() bool    { return true }

// transaction gives the id and the network of a transaction. A sandbox plays recordings of other chains as Base.
func (base) transaction(data []byte, ledger string) facts {
	found := facts{id: "0x" + hex.EncodeToString(keccak(data)), network: baseNetwork}
	if chainID := readChainID(data); ledger == mainNet && chainID != nil {
		found.network = "eip155:" + chainID.String()
	}
	return found
}

// split gives the EIP-2718 type of a transaction or a receipt, and its RLP: a legacy one has no byte for its type.
func split(data []byte) (byte, []byte) {
	require(len(data) > 0 && data[0] != 0 && (data[0] < 0x80 || data[0] >= 0xc0), "no EIP-2718 envelope")
	if data[0] >= 0xc0 {
		return 0, data
	}
	return data[0], data[1:]
}

// readChainID gives the EIP-155 chain id that the signature covers: none in a deposit, nor in a legacy transaction from
// before.
func readChainID(data []byte) *big.Int {
	kind, list := split(data)
	kinds, isKnown := transactionFields[kind]
	if !isKnown {
		return nil // opaque
	}
	fields := readFields(list, kinds, len(kinds), len(kinds))
	if kind == deposit {
		return nil
	}
	if kind > 0 {
		return fields[0].integer()
	}
	chainID := fields[6].integer()
	if chainID.Cmp(big.NewInt(35)) < 0 {
		return nil
	}
	chainID.Rsh(chainID.Sub(chainID, big.NewInt(35)), 1)
	require(chainID.IsUint64(), "a chain id of 2^64 or more")
	return chainID
}

// header gives the hash, the height and the network of a block.
func (base) header(data []byte, _ string) facts {
	height := readFields(data, headerFields, 15, math.MaxInt)[8].integer()
	require(height.IsUint64() && height.Uint64() < 1<<53, "a height of 2^53 or more")
	return facts{"0x" + hex.EncodeToString(keccak(data)), height.Uint64(), baseNetwork}
}

// isIncluded says whether a transaction, and its receipt, are in the block of a header: by the tries that it commits to.
func (on base) isIncluded(inclusion object, transaction, header []byte) bool {
	on.header(header, "")
	fields, index := readList(header), uint64(inclusion["index"].(float64))
	if !bytes.Equal(descend(fields[4], index, inclusion["nodes"]), transaction) {
		return false
	}
	receipt, present := inclusion["receipt"].(object)
	if !present {
		return true
	}
	data := decode(receipt["bytesBase64"])
	return bytes.Equal(descend(fields[5], index, receipt["nodes"]), data) && receiptStatus(data, transaction) != ""
}

// receiptStatus is what became of a transaction by its receipt, which is of the same type: status, gas used, Bloom
// filter, logs.
func receiptStatus(receipt, transaction []byte) string {
	kind, list := split(receipt)
	same, _ := split(transaction)
	require(kind == same, "a receipt of another type")
	if _, isKnown := transactionFields[kind]; !isKnown {
		return "unknown" // opaque
	}
	kinds := "sqBl"
	if kind == deposit {
		kinds = "sqBlqq" // its nonce and its receipt's version, in later blocks
	}
	if status := readFields(list, kinds, 4, len(kinds))[0]; len(status.payload) == 0 {
		return "failed"
	}
	return "succeeded"
}
