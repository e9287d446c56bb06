/** Stores of IndexedDB, as promises. */

/**
 * One store of records, in a separate database: another version of a database waits until no page has the old one open.
 *
 * @param version another layout of its records is another version
 * @throws DOMException — the browser keeps nothing for this page
 */
export async function openStore(name: string, version: number, store: string): Promise<(mode: IDBTransactionMode) => IDBObjectStore> {
  const opening = indexedDB.open(name, version);
  opening.onupgradeneeded = () => opening.result.createObjectStore(store, { keyPath: 'id' });
  const database = await answered(opening);
  return (mode) => database.transaction(store, mode).objectStore(store);
}

export function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
