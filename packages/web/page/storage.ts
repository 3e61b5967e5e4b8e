/** Object stores of the page's IndexedDB: signed payments, bought bundles, the key list. */
const SHELVES = ["payments", "bundles", "keys"] as const;
type Shelf = (typeof SHELVES)[number];

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** @throws DOMException when the browser does not let a page store anything */
export async function openStorage() {
  const opening = indexedDB.open("attestd", 1);
  opening.onupgradeneeded = () => {
    for (const shelf of SHELVES) opening.result.createObjectStore(shelf);
  };
  const database = await answered(opening);
  return {
    get: <T>(shelf: Shelf, id: string): Promise<T | undefined> =>
      answered(database.transaction(shelf).objectStore(shelf).get(id)),
    all: <T>(shelf: Shelf): Promise<T[]> => answered(database.transaction(shelf).objectStore(shelf).getAll()),
    /**
     * Changes the value of an id in one transaction: no other tab can change it between reading and writing.
     * @param change gets the stored value and returns the new one; undefined deletes it
     * @returns the new value, when it is on disk
     */
    update<T>(shelf: Shelf, id: string, change: (stored: T | undefined) => T | undefined): Promise<T | undefined> {
      const transaction = database.transaction(shelf, "readwrite", { durability: "strict" });
      const store = transaction.objectStore(shelf);
      const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
      const reading = store.get(id);
      reading.onsuccess = () => {
        const changed = change(reading.result);
        if (changed === undefined) store.delete(id);
        else store.put(changed, id);
        transaction.oncomplete = () => resolve(changed);
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
