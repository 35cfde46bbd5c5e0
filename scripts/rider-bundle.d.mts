export function bundlePi(outfile: string, contents?: string): Promise<void>;
