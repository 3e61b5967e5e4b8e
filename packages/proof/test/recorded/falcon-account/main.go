// Makes ../falcon-account.json by Algorand's own Falcon: go run . > ../falcon-account.json
// With the argument "verify" it reads what our code made, {publicKey, message, signature} in base64 a line, and verifies it.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"filippo.io/edwards25519"
	"github.com/algorand/falcon"
)

type account struct {
	Entropy   []byte `json:"entropy,omitempty"`
	PublicKey []byte `json:"publicKey"`
	SecretKey string `json:"secretKeySha256,omitempty"`
	Salt      int    `json:"salt"`
	Account   []byte `json:"account"`
	Message   []byte `json:"message,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// address is go-algorand's (data/basics/pq_address.go).
func address(salt int, pk falcon.PublicKey) []byte {
	d := sha512.Sum512_256(append([]byte("PQAf1"+string([]byte{byte(salt)})), pk[:]...))
	return d[:]
}

func canonical(pk falcon.PublicKey) int {
	for salt := 0; salt < 256; salt++ {
		if _, err := new(edwards25519.Point).SetBytes(address(salt, pk)); err != nil {
			return salt
		}
	}
	panic("no salt")
}

// seedOf is attestd's derivation of a seed from a mnemonic's 32 bytes (docs/signer.md).
func seedOf(entropy []byte) []byte {
	return sha3.SumSHAKE256(append([]byte("attestd/falcon-1024/v1"), entropy...), 48)
}

func main() {
	if len(os.Args) > 1 {
		verify()
		return
	}
	out := struct {
		Accounts []account `json:"accounts"`
		// Of go-algorand's own test of addresses, by the first byte of a seed of 32.
		Addresses []account `json:"addresses"`
	}{}
	for i := 0; i < 6; i++ {
		entropy := sha256.Sum256([]byte{byte(i)})
		pk, sk, err := falcon.GenerateKey(seedOf(entropy[:]))
		check(err)
		message := append([]byte("TX"), bytes.Repeat([]byte{byte(i)}, 100*i)...)
		sig, err := sk.SignCompressed(message)
		check(err)
		salt := canonical(pk)
		out.Accounts = append(out.Accounts, account{entropy[:], pk[:], fmt.Sprintf("%x", sha256.Sum256(sk[:])), salt, address(salt, pk), message, sig})
	}
	for _, one := range []struct{ first, salt int }{{3, 0}, {1, 1}, {0, 255}, {2, 2}, {255, 255}, {1, 0}} {
		seed := make([]byte, 32)
		seed[0] = byte(one.first)
		pk, _, err := falcon.GenerateKey(seed)
		check(err)
		out.Addresses = append(out.Addresses, account{PublicKey: pk[:], Salt: one.salt, Account: address(one.salt, pk)})
	}
	check(json.NewEncoder(os.Stdout).Encode(out))
}

func verify() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var one struct{ PublicKey, Message, Signature []byte }
		check(json.Unmarshal(lines.Bytes(), &one))
		pk := falcon.PublicKey(one.PublicKey)
		if err := pk.Verify(falcon.CompressedSignature(one.Signature), one.Message); err != nil {
			panic(fmt.Sprintf("signature %d: %v %s", n, err, base64.StdEncoding.EncodeToString(one.Message)))
		}
		n++
	}
	fmt.Println(n, "signatures verify")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
