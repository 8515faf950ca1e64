import type { MetricsRegistry } from '#base';
import type { ApiRequest } from './request/api-request.ts';
import type { ApiResponse } from './request/api-response.ts';

export interface RequestMetrics {
  count(request: ApiRequest, response: ApiResponse): void;
}

/** Counts what was asked and how it was answered, under upstream's names. */
export function requestMetrics(metrics: MetricsRegistry): RequestMetrics {
  const total = metrics.counter({
    name: 'apiserver_request_total',
    help: 'Requests that were answered, by what they asked for and the code of the answer.',
    labels: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'code'],
  });
  return {
    count({ info }, response) {
      const { verb, group, version, resource, subresource } = info;
      const code = 'code' in response ? response.code : 200;
      total.with({ verb: verb.toUpperCase(), group, version, resource, subresource, scope: scopeOf(info), code: String(code) }).inc();
    },
  };
}

function scopeOf({ isResource, name, namespace }: ApiRequest['info']): string {
  if (!isResource) return '';
  if (name !== '') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}
