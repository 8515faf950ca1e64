import { EnvelopeEncoding, encodeProtobuf, type JsonObject, type ObjectSchema } from '#machinery';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';

/** The total size of cached messages. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/**
 * Protobuf messages of objects, without envelopes, shared by lists, watches and gets of one version. Messages that are not used while half
 * of the budget is refilled are evicted, as are those of deleted objects.
 */
export class ProtobufMessages {
  #young = new WeakMap<VersionedObject, Buffer>();
  #old = new WeakMap<VersionedObject, Buffer>();
  #youngBytes = 0;
  readonly #envelopes = new WeakMap<ServedResource, EnvelopeEncoding>();

  /** The message of an object in its envelope. */
  inEnvelope(object: VersionedObject, resource: ServedResource): Buffer {
    let envelope = this.#envelopes.get(resource);
    if (envelope === undefined) {
      envelope = new EnvelopeEncoding(resource);
      this.#envelopes.set(resource, envelope);
    }
    return envelope.of(this.of(object, resource.schema));
  }

  of(object: VersionedObject, schema: ObjectSchema): Buffer {
    let message = this.#young.get(object);
    if (message !== undefined) return message;
    message = this.#old.get(object) ?? encodeProtobuf(schema, object.object as unknown as JsonObject);
    this.#young.set(object, message);
    this.#youngBytes += message.length;
    if (this.#youngBytes > BUDGET_BYTES / 2) this.#age();
    return message;
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new WeakMap();
    this.#youngBytes = 0;
  }
}
