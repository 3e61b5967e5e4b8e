/** Object stores of the page's IndexedDB: signed payments, bought bundles, the key list. */
export type Shelf = "payments" | "bundles" | "keys";

const SHELVES: readonly Shelf[] = ["payments", "bundles", "keys"];

export interface Storage {
  get<T>(shelf: Shelf, id: string): Promise<T | undefined>;
  all<T>(shelf: Shelf): Promise<T[]>;
  /**
   * Changes the value of an id in one transaction: no other tab can change it between reading and writing.
   * @param change gets the stored value and returns the new one; undefined deletes it
   * @returns the new value, when it is on disk
   */
  update<T>(shelf: Shelf, id: string, change: (stored: T | undefined) => T | undefined): Promise<T | undefined>;
}

/** @throws DOMException when the browser does not let a page store anything */
export async function openStorage(name = "attestd"): Promise<Storage> {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    for (const shelf of SHELVES) opening.result.createObjectStore(shelf);
  };
  const database = await answered(opening);
  return {
    get: (shelf, id) => answered(database.transaction(shelf).objectStore(shelf).get(id)),
    all: (shelf) => answered(database.transaction(shelf).objectStore(shelf).getAll()),
    update(shelf, id, change) {
      const transaction = database.transaction(shelf, "readwrite", { durability: "strict" });
      const store = transaction.objectStore(shelf);
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      const reading = store.get(id);
      reading.onsuccess = () => {
        const changed = change(reading.result);
        if (changed === undefined) store.delete(id);
        else store.put(changed, id);
        transaction.oncomplete = () => resolve(changed as never);
      };
      transaction.onabort = () => reject(transaction.error);
      return promise;
    },
  };
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
