/** The style sheet of the replay's report: system fonts, both colour schemes, nothing that has to be fetched. */
export const REPORT_STYLE = `
:root{--paper:#fdfdfb;--ink:#1d2127;--faint:#5c6570;--rule:#d9dde2;--panel:#f3f4f1;--area:#c9d6e8;--line:#3d6394;
--boundary:#1b7f5c;--mid_work:#b4560f;--emergency:#b3243b;--own:#6b4fa0;--cached:#a9bfd9;--fresh:#3d6394;--inside:#fff;
--f0:#3d6394;--f1:#1b7f5c;--f2:#b4560f;--f3:#6b4fa0;--f4:#7a6a1f;--f5:#5c6570}
@media (prefers-color-scheme:dark){:root{--paper:#16191d;--ink:#e6e8eb;--faint:#9aa4af;--rule:#343b43;--panel:#1e2328;
--area:#2b3e57;--line:#8db4e6;--boundary:#4fc59a;--mid_work:#f0a35e;--emergency:#ff7f91;--own:#b9a0ee;--cached:#3d5474;
--fresh:#8db4e6;--inside:#10141a;--f0:#8db4e6;--f1:#4fc59a;--f2:#f0a35e;--f3:#b9a0ee;--f4:#d6c46a;--f5:#9aa4af}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.7rem;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:0 0 .5rem;overflow-wrap:anywhere}
.lead{margin:0 0 2rem;color:var(--faint);max-width:44rem}
section{border-top:1px solid var(--rule);padding:1.5rem 0 .5rem}
.faint{color:var(--faint)}
p.faint{margin:0 0 1rem;font-size:.9rem}
figure{margin:0 0 1.75rem}
figcaption{font-weight:600;margin-bottom:.35rem}
svg{display:block;width:100%;height:auto}
svg text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink)}
svg text.faint{fill:var(--faint)}
svg text.end{text-anchor:end}
svg text{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}svg text.inside{stroke:none;fill:var(--inside);text-anchor:middle;font-weight:600}
svg .area{fill:var(--area)}svg .line{fill:none;stroke:var(--line);stroke-width:1.5}
svg .window{stroke:var(--faint);stroke-width:.75;stroke-dasharray:3 3;fill:none}
svg .base{stroke:var(--rule)}svg .ticks path{stroke:var(--boundary);stroke-width:1}
svg .dot{fill:var(--line)}
.mark{stroke-width:1.5;stroke:currentColor;fill:currentColor}.mark.hollow{fill:var(--paper)}
.mark.boundary{color:var(--boundary)}.mark.mid_work{color:var(--mid_work)}
.mark.emergency{color:var(--emergency)}.mark.own{color:var(--own)}
rect.boundary{fill:var(--boundary)}rect.mid_work{fill:var(--mid_work)}rect.emergency{fill:var(--emergency)}
.cached{fill:var(--cached);background:var(--cached)}.fresh{fill:var(--fresh);background:var(--fresh)}
.fill0{fill:var(--f0);background:var(--f0)}.fill1{fill:var(--f1);background:var(--f1)}
.fill2{fill:var(--f2);background:var(--f2)}.fill3{fill:var(--f3);background:var(--f3)}
.fill4{fill:var(--f4);background:var(--f4)}.fill5{fill:var(--f5);background:var(--f5)}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.25rem 0 .5rem;font-size:.85rem;color:var(--faint)}
.legend span{display:inline-flex;align-items:center;gap:.35rem}
.sample{display:inline-block;width:12px;height:12px}
.box{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}
details{margin-top:.5rem;font-size:.9rem}
summary{cursor:pointer;color:var(--faint)}
.scroll{overflow-x:auto;margin-top:.5rem;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;min-width:100%}
th,td{text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
thead th{font-weight:600;color:var(--faint);white-space:nowrap}
tbody th{font-weight:500;white-space:nowrap}
td.number,th.number{text-align:right;white-space:nowrap}
td{white-space:nowrap}td:last-child{white-space:normal;min-width:14rem}
li{margin:.3rem 0;max-width:48rem}
@media (max-width:480px){main{padding:1.25rem .75rem 3rem}svg text{font-size:19px}svg text.faint{font-size:17px}}
@media print{details[open],details{display:block}details>*{display:block}}
`.replaceAll('\n', '');
