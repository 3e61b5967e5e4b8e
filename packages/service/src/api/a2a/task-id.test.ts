import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contextOf, createTaskIds, type UnpaidTask } from "./task-id.ts";

const seed = new Uint8Array(32).fill(5);
const ids = createTaskIds(seed);
const task: UnpaidTask = {
  skill: "prove-tx-inclusion",
  subject: { kind: "inclusion", chain: "base", id: `0x${"ab".repeat(32)}`, height: Number.MAX_SAFE_INTEGER },
};

describe("a task's id", () => {
  test("is read by every replica, and is different for every task", () => {
    const id = ids.issue(task);
    expect(createTaskIds(seed).read(id)).toEqual(task);
    expect(ids.issue(task)).not.toBe(id);
    expect(id).toMatch(/^[\w-]+\.[\w-]{16}\.[\w-]{22}$/);
    // Within what a message may name (`TaskId`), even with the longest context: 128 characters of three bytes.
    expect(ids.issue(task, "語".repeat(128)).length).toBeLessThan(1024);
  });

  test("has the caller's own context, or else one of 16 characters that no other task has", () => {
    const [id, other] = [ids.issue(task), ids.issue(task)];
    expect(contextOf(id)).toMatch(/^[\w-]{16}$/);
    expect(contextOf(other)).not.toBe(contextOf(id));
    expect(contextOf(ids.issue(task, contextOf(id)))).toBe(contextOf(id));
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (context) => {
        const own = ids.issue(task, context);
        return contextOf(own) === context && ids.read(own) !== undefined;
      }),
    );
  });

  test("is not read with another seed", () => {
    expect(createTaskIds(new Uint8Array(32)).read(ids.issue(task))).toBeUndefined();
  });

  test("that is altered in any character, or made up, is not read", () => {
    const id = ids.issue(task, "a context");
    fc.assert(
      fc.property(fc.nat(id.length - 1), fc.constantFrom(..."Ab0-_."), (at, character) => {
        fc.pre(id[at] !== character);
        expect(ids.read(id.slice(0, at) + character + id.slice(at + 1))).toBeUndefined();
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => ids.read(text) === undefined));
    for (const text of ["", ".", "..", `${id}.`, id.slice(0, -1)]) expect(ids.read(text)).toBeUndefined();
  });
});
