import { fillUnset, mapField, mapItems, mutableCopy, withField } from '../../../defaulting.ts';
import { defaultPullPolicy } from '../pod/image-tag.ts';
import { fillResources, roundResources } from '../resource-list/resource-list.ts';
import type { ContainerPort } from './container.ts';
import type { EnvVar } from './env-var.ts';
import type { ObjectFieldSelector } from './object-field-selector.ts';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from './probe.ts';
import type { ResourceRequirements } from './resource-requirements.ts';

/** The common fields of the three kinds of containers, for defaulting. */
export interface DefaultableContainer {
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceRequirements;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
}

const MESSAGE_PATH = '/dev/termination-log';
const MESSAGE_POLICY = 'File';

// A hot path, run for every written pod: copies once and sets fields by name.
export function defaultContainer<C extends DefaultableContainer>(container: C): C {
  const { ports, env, resources, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const nextPorts = ports && mapItems(ports, defaultPort);
  const nextEnv = env && mapItems(env, defaultEnvVar);
  const nextResources = resources && roundRequirements(resources);
  const nextLiveness = livenessProbe && defaultProbe(livenessProbe);
  const nextReadiness = readinessProbe && defaultProbe(readinessProbe);
  const nextStartup = startupProbe && defaultProbe(startupProbe);
  const nextLifecycle = lifecycle && defaultLifecycle(lifecycle);
  const isComplete =
    container.imagePullPolicy && container.terminationMessagePath && container.terminationMessagePolicy && nextPorts === ports;
  const isSame = nextEnv === env && nextResources === resources && nextLifecycle === lifecycle;
  const probesSame = nextLiveness === livenessProbe && nextReadiness === readinessProbe && nextStartup === startupProbe;
  if (isComplete && isSame && probesSame) return container;
  const filled = mutableCopy<DefaultableContainer>(container);
  if (!filled.imagePullPolicy) filled.imagePullPolicy = defaultPullPolicy(container.image);
  if (!filled.terminationMessagePath) filled.terminationMessagePath = MESSAGE_PATH;
  if (!filled.terminationMessagePolicy) filled.terminationMessagePolicy = MESSAGE_POLICY;
  if (nextPorts) filled.ports = nextPorts;
  if (nextEnv) filled.env = nextEnv;
  if (nextResources) filled.resources = nextResources;
  if (nextLiveness) filled.livenessProbe = nextLiveness;
  if (nextReadiness) filled.readinessProbe = nextReadiness;
  if (nextStartup) filled.startupProbe = nextStartup;
  if (nextLifecycle) filled.lifecycle = nextLifecycle;
  return filled as C;
}

function defaultPort(port: ContainerPort): ContainerPort {
  return port.protocol ? port : withField(port, 'protocol', 'TCP');
}

function defaultEnvVar(variable: EnvVar): EnvVar {
  const { valueFrom } = variable;
  if (!valueFrom) return variable;
  const withField = mapField(valueFrom, 'fieldRef', defaultFieldRef);
  const filled = mapField(withField, 'fileKeyRef', (ref) => fillUnset(ref, { optional: false }));
  return filled === valueFrom ? variable : { ...variable, valueFrom: filled };
}

export function defaultFieldRef(ref: ObjectFieldSelector): ObjectFieldSelector {
  return ref.apiVersion ? ref : withField(ref, 'apiVersion', 'v1');
}

export function roundRequirements(resources: ResourceRequirements): ResourceRequirements {
  const { limits, requests } = resources;
  const nextLimits = limits && roundResources(limits);
  const nextRequests = requests && roundResources(requests);
  if (nextLimits === limits && nextRequests === requests) return resources;
  return { ...resources, ...(nextLimits && { limits: nextLimits }), ...(nextRequests && { requests: nextRequests }) };
}

/** A container's requests default to its limits. */
export function requestLimits<C extends DefaultableContainer>(container: C): C {
  const limits = container.resources?.limits;
  if (!limits) return container;
  const requests = fillResources(container.resources.requests, limits) ?? {};
  return withField(container, 'resources', withField(container.resources, 'requests', requests) as C['resources']);
}

function defaultProbe(probe: Probe): Probe {
  const { httpGet, grpc } = probe;
  const nextGet = httpGet && defaultHttpGet(httpGet);
  const isTimed = probe.timeoutSeconds && probe.periodSeconds && probe.successThreshold && probe.failureThreshold;
  if (isTimed && nextGet === httpGet && grpc?.service !== null && (!grpc || grpc.service !== undefined)) return probe;
  const filled = mutableCopy(probe);
  if (!filled.timeoutSeconds) filled.timeoutSeconds = 1;
  if (!filled.periodSeconds) filled.periodSeconds = 10;
  if (!filled.successThreshold) filled.successThreshold = 1;
  if (!filled.failureThreshold) filled.failureThreshold = 3;
  if (nextGet) filled.httpGet = nextGet;
  if (grpc) filled.grpc = { ...grpc, service: grpc.service ?? '' };
  return filled;
}

function defaultHttpGet(action: HTTPGetAction): HTTPGetAction {
  if (action.path && action.scheme) return action;
  const filled = mutableCopy(action);
  if (!filled.path) filled.path = '/';
  if (!filled.scheme) filled.scheme = 'HTTP';
  return filled;
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  return mapField(mapField(lifecycle, 'postStart', defaultHandler), 'preStop', defaultHandler);
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return mapField(handler, 'httpGet', defaultHttpGet);
}
