import { request } from 'node:https';
import { StatusError } from '#machinery';
import type { Store } from '#store';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import { ConvertedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ApiResponse } from '../api-response.ts';
import type { VerbHandler } from '../handler-table.ts';
import type { ResourceCall } from '../resource-call.ts';
import { selectionOf } from '../selection.ts';

/** Resolves to the component's health text; rejects if it is unhealthy. */
export type ComponentCheck = () => Promise<string>;
export type ComponentChecks = Readonly<Record<string, ComponentCheck>>;

const TIMEOUT_MS = 5000;
/** In characters. */
const MAX_HEALTH_TEXT = 65_536;

/** Upstream's endpoints: the local health ports of the components, and the store. */
export function componentChecks(store: Store): ComponentChecks {
  return {
    'controller-manager': () => healthOf('https://127.0.0.1:10257/healthz'),
    'etcd-0': async () => {
      await store.revision();
      return 'ok';
    },
    scheduler: () => healthOf('https://127.0.0.1:10259/healthz'),
  };
}

/** `componentstatuses`, computed on request. */
export function componentStatuses(checks: ComponentChecks): Readonly<Record<string, VerbHandler>> {
  return {
    get: (call) => getStatus(call, checks),
    list: (call) => listStatuses(call, checks),
  };
}

async function getStatus({ resource, name }: ResourceCall<ServedResource>, checks: ComponentChecks): Promise<ApiResponse> {
  const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
  if (check === undefined) throw StatusError.notFound({ group: '', resource: 'componentstatus' }, name);
  return { type: 'object', code: 200, resource, object: new ConvertedObject(await statusOf(name, check), 0) };
}

async function listStatuses(call: ResourceCall<ServedResource>, checks: ComponentChecks): Promise<ApiResponse> {
  const { matches } = selectionOf(call, false).selection;
  const all = await Promise.all(Object.entries(checks).map(([name, check]) => statusOf(name, check)));
  const items = (matches ? all.filter(matches) : all).map((status) => new ConvertedObject(status, 0));
  return { type: 'list', resource: call.resource, items, revision: 0 };
}

async function statusOf(name: string, check: ComponentCheck): Promise<KubeObject> {
  const condition = await check().then(
    (message) => ({ type: 'Healthy', status: 'True', message }),
    (error: unknown) => ({ type: 'Healthy', status: 'False', message: error instanceof Error ? error.message : String(error) }),
  );
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] } as unknown as KubeObject;
}

function healthOf(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (detail: string) => reject(new Error(`Get "${url}": ${detail}`));
    // Components serve self-signed certificates.
    const healthRequest = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS }, (response) => {
      response.setEncoding('utf8');
      let body = '';
      response.on('data', (chunk: string) => {
        body += chunk;
        if (body.length > MAX_HEALTH_TEXT) healthRequest.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))));
      response.on('error', (error) => fail(error.message));
    });
    healthRequest.on('timeout', () => healthRequest.destroy(new Error('no answer in time')));
    healthRequest.on('error', (error: NodeJS.ErrnoException) => fail(connectFailure(error, new URL(url).host)));
    healthRequest.end();
  });
}

/** The message of Go's network library. */
function connectFailure(error: NodeJS.ErrnoException, host: string): string {
  return error.code === 'ECONNREFUSED' ? `dial tcp ${host}: connect: connection refused` : error.message;
}
