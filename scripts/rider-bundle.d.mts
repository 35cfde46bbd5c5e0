export function bundlePi(outfile: string, contents?: string, root?: string): Promise<void>;
