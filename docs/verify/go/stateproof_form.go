// The form of a state proof: canonical msgpack, and every member that there must be.

package main

type tree struct {
	path  [][]byte
	depth uint64
}

type reveal struct {
	weight, lifetime, before, index uint64
	keys, signature, publicKey      []byte
	proof                           tree
}

type stateProof struct {
	commitment               []byte
	weight, version          uint64
	signatures, participants tree
	reveals                  map[uint64]reveal
	places                   []uint64
}

type members = map[any]any

// readStateProof refuses what has another form.
func readStateProof(data []byte) (proof stateProof) {
	require(len(data) <= 3<<20, "longer than 3 MiB")
	readMap(data, true) // canonical, and nothing empty
	top := only((&msgpack{data: data}).decode(), "c w S P r pr", "v")
	proof.commitment, proof.weight = digest64(top["c"]), top["w"].(uint64)
	proof.version = optional(top["v"])
	proof.signatures, proof.participants = readTree(top["S"], 20), readTree(top["P"], 20)
	proof.reveals = map[uint64]reveal{}
	places, reveals := top["pr"].([]any), top["r"].(members)
	require(len(places) <= 640 && proof.version < 256, "too many coins, or no version")
	for _, place := range places {
		proof.places = append(proof.places, place.(uint64))
		proof.reveals[place.(uint64)] = readReveal(reveals[place])
	}
	require(len(proof.reveals) == len(reveals), "a reveal without a coin")
	return proof
}

func readReveal(value any) reveal {
	both := only(value, "s p", "")
	participant := only(both["p"], "p w", "")
	verifier := only(participant["p"], "cmt lf", "")
	slot := only(both["s"], "s", "l")
	signed := only(slot["s"], "sig prf vkey", "idx")
	one := reveal{
		weight: participant["w"].(uint64), keys: digest64(verifier["cmt"]), lifetime: verifier["lf"].(uint64),
		before: optional(slot["l"]), signature: signed["sig"].([]byte), index: optional(signed["idx"]),
		publicKey: only(signed["vkey"], "k", "")["k"].([]byte), proof: readTree(signed["prf"], 16),
	}
	isSigned := len(one.signature) > 2 && len(one.signature) <= 1423 && len(one.publicKey) == 1793
	require(isSigned && one.weight > 0 && one.lifetime > 0, "no signature, key, weight or lifetime")
	return one
}

func readTree(value any, deepest uint64) (found tree) {
	fields := only(value, "hsh", "pth td")
	require(only(fields["hsh"], "t", "")["t"] == uint64(1), "not of sumhash512")
	found.depth = optional(fields["td"])
	path, _ := fields["pth"].([]any)
	for _, hash := range path {
		found.path = append(found.path, digest64(hash))
	}
	require(found.depth <= deepest && (path != nil || fields["pth"] == nil), "too deep, or no path")
	return found
}

func digest64(value any) []byte {
	require(len(value.([]byte)) == 64, "not 64 bytes")
	return value.([]byte)
}

func optional(value any) uint64 {
	if value == nil {
		return 0
	}
	return value.(uint64)
}

// decode gives a value of msgpack that readMap has found canonical: maps, lists, bytes, text and integers.
func (m *msgpack) decode() any {
	kind := m.uint(1, 0)
	switch {
	case kind < 0x80:
		return kind
	case kind < 0x90:
		return m.decodeMembers(kind & 0x0f)
	case kind < 0xa0:
		return m.decodeItems(kind & 0x0f)
	case kind < 0xc0:
		return string(m.take(kind & 0x1f))
	case kind >= 0xc4 && kind <= 0xc6:
		return m.take(m.uint(1<<(kind-0xc4), 0))
	case kind >= 0xcc && kind <= 0xcf:
		return m.uint(1<<(kind-0xcc), 0)
	case kind == 0xdc, kind == 0xdd:
		return m.decodeItems(m.uint(2<<(kind-0xdc), 0))
	}
	require(kind == 0xde || kind == 0xdf, "a type that no state proof has")
	return m.decodeMembers(m.uint(2<<(kind-0xde), 0))
}
