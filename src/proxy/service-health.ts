import { HttpEndpoint, type Logger } from '#base';
import type { HealthCheck } from './rules/service-rules.ts';

interface CheckedService {
  readonly endpoint: HttpEndpoint;
  check: HealthCheck;
}

/** Serves healthCheckNodePort: whether this node has endpoints of a service. */
export class ServiceHealth implements AsyncDisposable {
  readonly #servers = new Map<string, CheckedService>();
  #last = Promise.resolve();

  constructor(
    private readonly isHealthy: () => boolean,
    private readonly logger: Logger,
  ) {}

  /** `check`: undefined when the service no longer has such a port. */
  set(service: string, check: HealthCheck | undefined): void {
    const before = this.#servers.get(service);
    if (before !== undefined && check !== undefined && before.check.port === check.port) {
      before.check = check;
      return;
    }
    if (before === undefined && check === undefined) return;
    this.#servers.delete(service);
    const started = check && { endpoint: this.#endpoint(service), check };
    if (started) this.#servers.set(service, started);
    // Sequentially: a port may move from one service to another.
    this.#last = this.#last.then(() => this.#change(before, started));
  }

  async #change(before: CheckedService | undefined, after: CheckedService | undefined): Promise<void> {
    try {
      await before?.endpoint[Symbol.asyncDispose]();
      await after?.endpoint.listen(`:${after.check.port}`);
    } catch (error) {
      this.logger.error('a health check port cannot be served', { service: after?.check.service, error });
    }
  }

  #endpoint(service: string): HttpEndpoint {
    return new HttpEndpoint(() => {
      const check = this.#servers.get(service)?.check;
      if (check === undefined) return undefined;
      const { namespace, service: name, localEndpoints } = check;
      const serviceProxyHealthy = this.isHealthy();
      const code = localEndpoints > 0 && serviceProxyHealthy ? 200 : 503;
      const body = JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy });
      const headers = { 'content-type': 'application/json', 'x-load-balancing-endpoint-weight': `${localEndpoints}` };
      return { code, body, headers };
    }, this.logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    for (const { endpoint } of this.#servers.values()) await endpoint[Symbol.asyncDispose]();
    this.#servers.clear();
  }
}
