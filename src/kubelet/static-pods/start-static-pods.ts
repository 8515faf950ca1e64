import { parseDurationMs } from '#machinery';
import { withDefaults } from '../configuration/defaults.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { fileSource, followSource, httpSource, type ManifestSource, type SourceDeps } from './manifest-sources.ts';
import { StaticPods, type StaticPodsDeps } from './static-pods.ts';

export interface StaticPodSources {
  readonly pods: StaticPods;
  /** Resolves when all sources are closed. */
  readonly done: Promise<unknown>;
}

/** The configured sources of static pods. */
function sourcesOf(configuration: KubeletConfiguration, deps: SourceDeps): readonly ManifestSource[] {
  const {
    staticPodPath = '',
    staticPodURL = '',
    staticPodURLHeader = {},
    fileCheckFrequency,
    httpCheckFrequency,
  } = withDefaults(configuration);
  return [
    ...(staticPodPath === '' ? [] : [fileSource(staticPodPath, parseDurationMs(fileCheckFrequency), deps)]),
    ...(staticPodURL === ''
      ? []
      : [httpSource(staticPodURL, { headers: staticPodURLHeader, periodMs: parseDurationMs(httpCheckFrequency) }, deps)]),
  ];
}

/** `onComplete` is called once, when every source has been read; never without sources. */
export function startStaticPods(
  configuration: KubeletConfiguration,
  deps: StaticPodsDeps & SourceDeps & { onComplete(): void },
  signal: AbortSignal,
): StaticPodSources {
  const sources = sourcesOf(configuration, deps);
  const pods = new StaticPods(sources.length, deps, signal);
  let wasComplete = false;
  const follow = (source: ManifestSource) =>
    followSource(
      source,
      {
        ...deps,
        onPods: (list) => {
          pods.set(source.name, list);
          if (!wasComplete && pods.isComplete) deps.onComplete();
          wasComplete = pods.isComplete;
        },
      },
      signal,
    );
  return { pods, done: Promise.all(sources.map(follow)).then(() => pods.idle()) };
}
