import type { apiextensions } from '#api';
import type { Random } from '#base';
import { goQuote, isJsonObject, type JsonObject, type JsonValue, parseGroupVersion } from '#machinery';
import type { WebhookClient, WebhookClientConfig } from '../admission/webhooks/webhook-client.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { checkConverted, restoreMetadata } from './converted-object.ts';

type Definition = apiextensions.CustomResourceDefinition;

export interface ConversionDeps {
  readonly webhooks: WebhookClient;
  readonly random: Random;
}

/** Upstream's timeout. */
const TIMEOUT_SECONDS = 30;
const REVIEW_GROUP = 'apiextensions.k8s.io';

/** Converts objects by the definition's conversion webhook. */
export class WebhookConversion {
  readonly #config: WebhookClientConfig;
  readonly #reviewVersions: readonly string[];
  readonly #deps: ConversionDeps;

  constructor({ spec }: Definition, deps: ConversionDeps) {
    const { clientConfig, conversionReviewVersions } = spec.conversion!.webhook!;
    this.#config = trusting(clientConfig as WebhookClientConfig);
    this.#reviewVersions = conversionReviewVersions ?? [];
    this.#deps = deps;
  }

  /** The objects in the version, in the same order. Objects in that version already are not sent. Throws an Error with upstream's message. */
  async convert(objects: readonly KubeObject[], apiVersion: string): Promise<readonly KubeObject[]> {
    const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
    const first = foreign[0];
    if (first === undefined) return objects;
    const returned = await this.#callWebhook(foreign, apiVersion).catch((error: Error) => {
      throw new Error(`conversion webhook for ${kindText(first)} failed: ${error.message}`, { cause: error });
    });
    if (returned.length !== foreign.length) {
      throw new Error(`conversion webhook for ${kindText(first)} returned ${returned.length} objects, expected ${foreign.length}`);
    }
    const converted = foreign.map((object, index) => accepted(object, returned[index]!, apiVersion));
    let next = 0;
    return objects.map((object) => (object.apiVersion === apiVersion ? object : converted[next++]!));
  }

  async #callWebhook(objects: readonly KubeObject[], desiredAPIVersion: string): Promise<readonly JsonValue[]> {
    const version = this.#reviewVersions.find((candidate) => candidate === 'v1' || candidate === 'v1beta1');
    if (version === undefined) throw new Error('no supported conversion review versions');
    const review = { kind: 'ConversionReview', apiVersion: `${REVIEW_GROUP}/${version}` };
    const uid = this.#deps.random.uuid();
    const body = {
      ...review,
      request: { uid, desiredAPIVersion, objects: objects as unknown as JsonValue },
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    };
    const response = await this.#deps.webhooks.call({ config: this.#config, body, timeoutSeconds: TIMEOUT_SECONDS });
    if (version === 'v1') checkReview(response, review);
    return convertedIn(response, version === 'v1' ? uid : undefined);
  }
}

/** A blank caBundle counts as absent. */
function trusting({ caBundle, ...config }: WebhookClientConfig): WebhookClientConfig {
  const isBlank =
    Buffer.from(caBundle ?? '', 'base64')
      .toString('latin1')
      .trim() === '';
  return isBlank || caBundle === undefined ? config : { ...config, caBundle };
}

function checkReview({ kind = '', apiVersion = '' }: JsonObject, expected: { kind: string; apiVersion: string }): void {
  if (kind === expected.kind && apiVersion === expected.apiVersion) return;
  const text = (typeMeta: { kind: JsonValue; apiVersion: JsonValue }) => `${typeMeta.apiVersion}, Kind=${typeMeta.kind}`;
  throw new Error(`expected webhook response of ${text(expected)}, got ${text({ kind, apiVersion })}`);
}

function convertedIn({ response }: JsonObject, uid: string | undefined): readonly JsonValue[] {
  if (!isJsonObject(response)) throw new Error('no response provided');
  const responseUid = typeof response.uid === 'string' ? response.uid : '';
  if (uid !== undefined && responseUid !== uid) throw new Error(`expected response.uid=${goQuote(uid)}, got ${goQuote(responseUid)}`);
  const result = isJsonObject(response.result) ? response.result : {};
  if (result.status !== 'Success') {
    const message = typeof result.message === 'string' ? result.message : '';
    throw new Error(message || `response.result.status was '${result.status ?? ''}', not 'Success'`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

/** The converted object, checked and with its metadata restored. */
function accepted(object: KubeObject, returned: JsonValue, apiVersion: string): KubeObject {
  try {
    return restoreMetadata(object, checkConverted(object, returned, apiVersion));
  } catch (error) {
    throw new Error(`conversion webhook for ${kindText(object)} returned ${(error as Error).message}`, { cause: error });
  }
}

function kindText({ apiVersion = '', kind = '' }: { apiVersion?: unknown; kind?: unknown }): string {
  const { group, version } = parseGroupVersion(String(apiVersion));
  return `${group}/${version}, Kind=${kind}`;
}
