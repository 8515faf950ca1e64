import type { MaybePromise } from '#base';
import { encodeJson, isJsonObject, type JsonObject, type OtherVersion } from '#machinery';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

/** The computation needs an object in a version that only a webhook can convert to. */
class MissingConversion extends Error {
  override readonly name = 'MissingConversion';
  constructor(
    readonly object: JsonObject,
    readonly to: ServedResource,
  ) {
    super('an object has to be converted first');
  }
}

/** Owners of fields are few, and so are the objects that are compared for each version that they used. */
const MAX_CONVERSIONS = 100;

/**
 * Webhook conversions for a computation that cannot wait: a missing version ends an attempt and is requested for the next one. A
 * computation on the same objects requests the same conversions, so that each attempt gets further.
 */
export class RemoteVersions {
  readonly #converted = new Map<string, JsonObject>();

  between(resource: ServedResource, other: ServedResource): OtherVersion {
    return {
      schema: other.schema,
      fromCurrent: (object) => this.#inVersion(object, other),
      toCurrent: (object) => this.#inVersion(object, resource),
    };
  }

  async run<T>(attempt: () => MaybePromise<T>): Promise<T> {
    for (let i = 0; i < MAX_CONVERSIONS; i++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof MissingConversion)) throw error;
        const { object, to } = error;
        const [converted] = await to.remote!.fromStored([object as unknown as KubeObject]);
        this.#converted.set(keyOf(object, to), converted as unknown as JsonObject);
      }
    }
    throw new Error(`field owners need more than ${MAX_CONVERSIONS} conversions`);
  }

  #inVersion(object: JsonObject, to: ServedResource): JsonObject {
    // Without metadata it is not an object yet: conversion webhooks are not called.
    if (object.apiVersion === to.apiVersion || !isJsonObject(object.metadata)) return { ...object, apiVersion: to.apiVersion };
    const converted = this.#converted.get(keyOf(object, to));
    if (converted === undefined) throw new MissingConversion(object, to);
    return converted;
  }
}

function keyOf(object: JsonObject, { apiVersion }: ServedResource): string {
  return `${apiVersion} ${encodeJson(object)}`;
}
