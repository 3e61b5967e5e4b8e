// The receipt of a payment: a compact JWS (RFC 7515) by the attestor's key.

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

var (
	receiptForm = object{"format": "jws", "signature": test(func(value any) bool {
		_, ok := value.(string)
		return ok
	})}
	receiptHeader  = object{"alg": "ML-DSA-65", "kid": sha256id}
	asciiForm      = regexp.MustCompile(`^[!-~]{1,128}$`)
	receiptPayload = object{
		"type": "x402-receipt", "version": 1.0, "network": networkForm, "payer": asciiForm, "transaction": asciiForm,
		"resourceUrl": test(func(value any) bool {
			text, ok := value.(string)
			return ok && len(text) > 0 && len(text) <= 8000
		}),
		"issuedAt": integer(0),
	}
)

// decodeURL gives the bytes of base64url, which is refused where it has another spelling.
func decodeURL(part string) []byte {
	data, err := base64.RawURLEncoding.Strict().DecodeString(part)
	require(err == nil && base64.RawURLEncoding.EncodeToString(data) == part, "not base64url")
	return data
}

// readReceipt gives the header, the payload and the signature of a receipt.
func readReceipt(jws string) (header, stated object, signature []byte) {
	parts := strings.Split(jws, ".")
	require(len(parts) == 3, "not three parts")
	for _, part := range parts[:2] {
		require(!bytes.HasPrefix(decodeURL(part), []byte("\uFEFF")), "a byte order mark, which only a file may have")
	}
	named, err := parse(decodeURL(parts[0]))
	require(err == nil && fits(named, receiptHeader), "another header")
	payload, err := parse(decodeURL(parts[1]))
	require(err == nil && fits(payload, receiptPayload), "another payload")
	signature = decodeURL(parts[2])
	require(len(signature) == 3309, "no signature")
	return named.(object), payload.(object), signature
}

// reportReceipt says what is right and wrong with a receipt, and whether it verifies. It names no round: no revoked key proves it.
func reportReceipt(jws string, believed trust) bool {
	var header, stated object
	var signature []byte
	attempt(func() { header, stated, signature = readReceipt(jws) })
	if signature == nil {
		fmt.Println("FAIL schema\nnot verified")
		return false
	}
	status, signed, isTrusted := "unknown", notChecked, "FAIL"
	for _, key := range believed.keys {
		if key["kid"] != header["kid"] {
			continue
		}
		signed, isTrusted, status = "FAIL", "pass", "current"
		if signsBytes(key["pqPublicKey"], []byte(jws[:strings.LastIndex(jws, ".")]), signature) {
			signed = "pass"
		}
		if key["untilRound"] != nil {
			status = "retired"
		}
		if key["revokedRound"] != nil {
			isTrusted, status = "FAIL", "revoked"
		}
	}
	fmt.Printf("pass schema\n%s keyTrust\n%s signature\nkey %s %s\n", isTrusted, signed, header["kid"], status)
	if signed == "pass" {
		fmt.Printf("paid %s %s %s %.0f\n", stated["network"], stated["payer"], stated["transaction"], stated["issuedAt"])
	}
	if signed != "pass" || isTrusted != "pass" {
		fmt.Println("not verified")
		return false
	}
	fmt.Println("verified, stated as paid and delivered")
	return true
}
