/** The Node modules of the plugin, passed in because its source is written to a file. */
export interface PluginHost {
  readonly fs: Pick<typeof import('node:fs'), 'readFileSync' | 'writeSync'>;
  readonly net: Pick<typeof import('node:net'), 'connect'>;
  readonly timers: Pick<typeof import('node:timers'), 'setTimeout'>;
  readonly process: Pick<NodeJS.Process, 'env' | 'exitCode'>;
}

export interface PluginSettings {
  /** The node agent's unix socket. */
  readonly socket: string;
  /** How often an unavailable agent, for example during a restart, is retried. */
  readonly attempts: number;
  readonly intervalMs: number;
}

/**
 * The CNI plugin for architectures without a `pluginProgram`: sends the runtime's request to the node agent and prints its
 * response. One function without imports, since `pluginText` writes its source into a file. Retries when the agent is unavailable or
 * disconnects: requests are idempotent.
 */
export function runPlugin({ fs, net, timers, process }: PluginHost, { socket, attempts, intervalMs }: PluginSettings): void {
  const { env } = process;
  const fail = (code: number, msg: string, details: string) => {
    fs.writeSync(1, JSON.stringify({ cniVersion: '1.0.0', code, msg, details }));
    process.exitCode = 1;
  };
  let config = '';
  try {
    config = fs.readFileSync(0, 'utf8');
  } catch (error) {
    fail(5, 'the network configuration cannot be read', String(error));
    return;
  }
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}\0`);
  const request = `${variables.join('')}\0${config}`;
  const ask = (left: number) => {
    const connection = net.connect({ path: socket, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    let problem = 'the node agent closed the connection';
    connection.on('connect', () => connection.end(request));
    connection.on('data', (chunk) => chunks.push(chunk as Buffer));
    connection.on('error', (error) => {
      problem = error.message;
    });
    connection.on('close', () => {
      const answer = Buffer.concat(chunks).toString();
      // The exit code as a digit, the output, and a newline as the end marker.
      if (answer.length >= 2 && answer.endsWith('\n')) {
        if (answer.length > 2) fs.writeSync(1, answer.slice(1, -1));
        process.exitCode = Number(answer[0]);
      } else if (left === 0) fail(11, 'the node agent does not answer', `${socket}: ${problem}`);
      else timers.setTimeout(ask, intervalMs, left - 1);
    });
  };
  ask(attempts);
}
