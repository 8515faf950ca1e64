import { MetricsRegistry, pushAll } from '#base';
import type { ApiRequest } from '../../request/api-request.ts';
import type { ApiResponse } from '../api-response.ts';

/** Throws or resolves to false when unhealthy. */
export interface HealthCheck {
  readonly name: string;
  check(): boolean | Promise<boolean>;
  /** For readiness only: the process itself is healthy. */
  readonly readinessOnly?: boolean;
}

const TEXT = 'text/plain; charset=utf-8';
const ENDPOINTS = ['/healthz', '/livez', '/readyz'] as const;

/** `/healthz`, `/livez` and `/readyz`, with their individual checks. */
export class HealthChecks {
  /** Metrics of the checks, in a registry of their own so that scraping them is cheap. */
  readonly metrics = new MetricsRegistry();
  readonly #checks: HealthCheck[] = [{ name: 'ping', check: () => true }];
  readonly #last = this.metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Whether a check of health went well the last time.',
    labels: ['name', 'type'],
  });
  readonly #total = this.metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'How the checks of health went.',
    labels: ['name', 'status', 'type'],
  });

  add(...checks: readonly HealthCheck[]): void {
    pushAll(this.#checks, checks);
  }

  paths(): readonly string[] {
    return ENDPOINTS.flatMap((endpoint) => [endpoint, ...this.#for(endpoint).map(({ name }) => `${endpoint}/${name}`)]);
  }

  /** Undefined for other paths. */
  respond(request: ApiRequest): Promise<ApiResponse> | undefined {
    const endpoint = ENDPOINTS.find((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (endpoint === undefined) return undefined;
    const name = request.path.slice(endpoint.length + 1);
    return name === '' ? this.#checkAll(endpoint, request.query) : this.#checkOne(endpoint, name);
  }

  #for(endpoint: string): readonly HealthCheck[] {
    return this.#checks.filter(({ readinessOnly }) => !readinessOnly || endpoint === '/readyz');
  }

  async #checkOne(endpoint: string, name: string): Promise<ApiResponse> {
    const check = this.#for(endpoint).find((candidate) => candidate.name === name);
    if (check === undefined) return { type: 'raw', code: 404, contentType: TEXT, body: '404 page not found\n' };
    const isHealthy = await passes(check);
    return {
      type: 'raw',
      code: isHealthy ? 200 : 500,
      contentType: TEXT,
      body: isHealthy ? 'ok' : `internal server error: ${name} is not ready\n`,
    };
  }

  async #observed(check: HealthCheck, type: string): Promise<boolean> {
    const isHealthy = await passes(check);
    const { name } = check;
    this.#last.with({ name, type }).set(isHealthy ? 1 : 0);
    this.#total.with({ name, type, status: isHealthy ? 'success' : 'error' }).inc();
    return isHealthy;
  }

  async #checkAll(endpoint: string, query: URLSearchParams): Promise<ApiResponse> {
    const excluded = new Set(query.getAll('exclude'));
    const checks = this.#for(endpoint);
    const results = await Promise.all(
      checks.map(async (check) => ({
        name: check.name,
        isExcluded: excluded.has(check.name),
        isHealthy: excluded.has(check.name) || (await this.#observed(check, endpoint.slice(1))),
      })),
    );
    const isHealthy = results.every((result) => result.isHealthy);
    const lines = results.map(({ name, isExcluded, isHealthy: ok }) =>
      isExcluded ? `[+]${name} excluded: ok` : ok ? `[+]${name} ok` : `[-]${name} failed: reason withheld`,
    );
    const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name)).sort();
    if (unknown.length > 0) lines.push(`warn: some health checks cannot be excluded: no matches for ${quoted(unknown)}`);
    const subject = endpoint.slice(1);
    const body = `${lines.join('\n')}\n${subject} check ${isHealthy ? 'passed' : 'failed'}\n`;
    if (isHealthy && !query.has('verbose')) return { type: 'raw', code: 200, contentType: TEXT, body: 'ok' };
    return { type: 'raw', code: isHealthy ? 200 : 500, contentType: TEXT, body };
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(',');
}

async function passes({ check }: HealthCheck): Promise<boolean> {
  try {
    return await check();
  } catch {
    return false;
  }
}
