/** How many bytes are read before their buffers are collected. */
const COLLECT_BYTES = 4 * 1024 * 1024;

/**
 * Frees the buffers of bulk data while they are young. Node allocates one for each read, outside of V8's heap; V8 counts them towards the next
 * collection of the whole heap, which costs more than the transfer. Needs `gc`, which servers have: docs/adr/0015-bulk-data-is-collected-young.md.
 */
export class BulkGarbage {
  #bytes = 0;

  /** Notes that a buffer of this length was read. */
  add(length: number): void {
    this.#bytes += length;
    if (this.#bytes < COLLECT_BYTES) return;
    this.#bytes = 0;
    globalThis.gc?.({ type: 'minor' });
  }
}
