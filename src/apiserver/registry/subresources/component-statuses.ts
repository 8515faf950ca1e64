import { request } from 'node:https';
import { StatusError } from '#machinery';
import type { Store } from '#store';
import type { ResourceCall } from '../../handlers/resource-call.ts';
import { selectionOf } from '../../handlers/selection.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import { ConvertedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../kube-object.ts';

/** Says how a part of the control plane is; rejects when it is not well. */
export type ComponentCheck = () => Promise<string>;
export type ComponentChecks = Readonly<Record<string, ComponentCheck>>;

const TIMEOUT_MS = 5000;

/** Where upstream looks: each part's own health endpoint on this machine, and the store. */
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

/** The handlers of `componentstatuses`, which are found out when asked for. */
export function componentStatuses(checks: ComponentChecks) {
  return {
    get: (_: unknown, call: ResourceCall) => getStatus(call, checks),
    list: (_: unknown, call: ResourceCall) => listStatuses(call, checks),
  };
}

async function getStatus({ resource, name }: ResourceCall, checks: ComponentChecks): Promise<ApiResponse> {
  const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
  if (check === undefined) throw StatusError.notFound({ group: '', resource: 'componentstatus' }, name);
  return { type: 'object', code: 200, resource, object: new ConvertedObject(await statusOf(name, check), 0) };
}

async function listStatuses(call: ResourceCall, checks: ComponentChecks): Promise<ApiResponse> {
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
    const fail = (why: string) => reject(new Error(`Get "${url}": ${why}`));
    // Each part makes its own certificate at its start, which nobody could know.
    const asked = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS }, (response) => {
      response.setEncoding('utf8');
      let body = '';
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))));
      response.on('error', (error) => fail(error.message));
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', (error: NodeJS.ErrnoException) => fail(connectFailure(error, new URL(url).host)));
    asked.end();
  });
}

/** In the words that upstream's network library has for it. */
function connectFailure(error: NodeJS.ErrnoException, host: string): string {
  return error.code === 'ECONNREFUSED' ? `dial tcp ${host}: connect: connection refused` : error.message;
}
