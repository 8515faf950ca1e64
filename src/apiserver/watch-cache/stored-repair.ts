import type { Logger, MetricsRegistry } from '#base';
import { conforms, decodeObject, type JsonObject, type ObjectSchema } from '#machinery';
import type { KubeObject } from './kube-object.ts';

export interface StoredRepairOptions {
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

/**
 * Brings objects that no write of this server could have made (a damaged store, another program's hand) to the types of their kind, so that every
 * reader may rely on them. The stored bytes stay until the object is written.
 */
export class StoredRepair {
  constructor(
    private readonly schema: ObjectSchema,
    private readonly options: StoredRepairOptions,
  ) {}

  /**
   * Null means absent, as in a request, and so does a value of another type; the name is that of the key. The same object when nothing is
   * wrong; the error says what does not belong there.
   */
  fit(stored: KubeObject, key: string): { readonly object: KubeObject; readonly error?: string } {
    if (conforms(this.schema, stored as unknown as JsonObject)) return { object: this.#withIdentity(stored, key) };
    const { object, error } = decodeObject(this.schema, stored as unknown as JsonObject);
    return { object: this.#withIdentity(object as unknown as KubeObject, key), ...(error !== undefined && { error }) };
  }

  report(key: string, error: string): void {
    const { logger, metrics } = this.options;
    logger.error('a stored object does not match its schema; its invalid fields are ignored', { key, error });
    metrics
      .counter({ name: 'sampan_repaired_objects_total', help: 'Objects of the store that had values of wrong types when they were read.' })
      .with({})
      .inc();
  }

  #withIdentity(object: KubeObject, key: string): KubeObject {
    const { namespaced, kind, apiVersion } = this.options;
    const metadata: Partial<KubeObject['metadata']> = object.metadata ?? {};
    const { name, namespace } = metadata;
    const hasKind = object.kind !== undefined && object.apiVersion !== undefined;
    if (hasKind && name && key.endsWith(namespaced ? `/${namespace}/${name}` : `/${name}`)) return object;
    const parts = key.split('/');
    const names = { name: parts.at(-1)!, ...(namespaced && { namespace: parts.at(-2)! }) };
    return { kind, apiVersion, ...object, metadata: { ...metadata, ...names } };
  }
}
