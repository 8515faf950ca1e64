import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GrpcError, GrpcServer, grpcStatus, type Logger, unaryMethod } from '#base';
import type { DeviceManager } from './device-manager.ts';
import { DEVICE_API_VERSION, Register } from './messages.ts';

const RESOURCE_NAME =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){0,8}[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\/[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;

/** Serves `DIRECTORY/kubelet.sock`, where device plugins register. Its creation makes running plugins register again. */
export async function startDeviceRegistration(directory: string, devices: DeviceManager, logger: Logger): Promise<AsyncDisposable> {
  await mkdir(directory, { recursive: true, mode: 0o750 });
  await removeSockets(directory);
  return GrpcServer.start({
    logger,
    endpoint: `unix://${join(directory, 'kubelet.sock')}`,
    methods: [
      unaryMethod(Register, ({ version, endpoint, resourceName, options }) => {
        if (version !== DEVICE_API_VERSION)
          throw invalid(`requested API version "${version}" is not supported by kubelet. Supported version is "${DEVICE_API_VERSION}"`);
        if (!isExtendedResource(resourceName)) throw invalid(`the ResourceName "${resourceName}" is invalid`);
        // A file name, not a path: plugin sockets are in the same directory.
        if (endpoint === '' || basename(endpoint) !== endpoint)
          throw invalid(`the endpoint "${endpoint}" is not the name of a socket in ${directory}`);
        if (devices.isFull(resourceName)) throw new GrpcError(grpcStatus.resourceExhausted, 'too many resources have device plugins');
        devices.register({ resourceName, socket: join(directory, endpoint), options: options ?? NO_OPTIONS });
        return {};
      }),
    ],
  });
}

const NO_OPTIONS = { preStartRequired: false, getPreferredAllocationAvailable: false };

function invalid(message: string): GrpcError {
  return new GrpcError(grpcStatus.invalidArgument, message);
}

export function isExtendedResource(name: string): boolean {
  const domain = name.slice(0, name.indexOf('/'));
  return RESOURCE_NAME.test(name) && !name.startsWith('requests.') && domain !== 'kubernetes.io' && !domain.endsWith('.kubernetes.io');
}

async function removeSockets(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if ((await lstat(path)).isSocket()) await rm(path, { force: true });
  }
}
