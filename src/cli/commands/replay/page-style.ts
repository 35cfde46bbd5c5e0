/** The style sheet of the replay report: system fonts, both colour schemes, no external resources. */
export const REPORT_STYLE = `
:root{--paper:#fdfdfb;--ink:#1d2127;--faint:#5c6570;--rule:#d9dde2;--area:#c9d6e8;--line:#3d6394;
--boundary:#1b7f5c;--mid_work:#b4560f;--emergency:#b3243b;--own:#6b4fa0;--cached:#a9bfd9;--fresh:#3d6394;--inside:#fff;
--tool_results:#2b5f9e;--tool_calls:#0e7c86;--assistant:#2f7d32;--user:#b85c0a;--reasoning:#7446ad;--system:#6f6a13;
--summary:#b3243b;--attachments:#7a4a2b;--images:#b23a86;--other:#5c6570;--overhead:#3a3f46}
@media (prefers-color-scheme:dark){:root{--paper:#16191d;--ink:#e6e8eb;--faint:#9aa4af;--rule:#343b43;
--area:#2b3e57;--line:#8db4e6;--boundary:#4fc59a;--mid_work:#f0a35e;--emergency:#ff7f91;--own:#b9a0ee;--cached:#3d5474;
--fresh:#8db4e6;--inside:#10141a;--tool_results:#7fb0ec;--tool_calls:#4cc4cf;--assistant:#7fce82;--user:#f0a35e;
--reasoning:#b99bec;--system:#d3c95a;--summary:#ff8a99;--attachments:#c99a78;--images:#f08fcb;--other:#9aa4af;
--overhead:#d7dce2}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:100rem;margin:0 auto;padding:2rem clamp(.75rem,2vw,2rem) 4rem}
h1{font-size:1.7rem;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:0 0 .5rem;overflow-wrap:anywhere}
a{color:var(--line)}
.lead{margin:0 0 2rem;color:var(--faint);max-width:44rem}
section,nav{border-top:1px solid var(--rule);padding:1.5rem 0 .5rem}
nav ol{margin:0;padding-left:2rem}
.faint,.axis{color:var(--faint)}
p.faint{margin:0 0 1rem;font-size:.9rem}
p.path{margin:0;overflow-wrap:anywhere}
.axis{margin:0 0 .5rem;font-size:.8rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:0 2.5rem}
figure{margin:0 0 1.75rem;min-width:0}
figcaption{font-weight:600;margin-bottom:.35rem}
svg.wide{display:block;width:100%;overflow:visible}
svg.spot{overflow:visible}
.gauge,.bars,.plot{display:grid;align-items:center;column-gap:.5rem}
.gauge{grid-template-columns:8rem 44px minmax(0,1fr)}
.bars{grid-template-columns:8rem minmax(0,1fr) 8rem;margin-bottom:.4rem}
.plot{grid-template-columns:44px minmax(0,1fr)}
.name,.value,.ends{font-size:.8rem}
.name{overflow-wrap:anywhere;line-height:1.2}
.value,.ends{color:var(--faint);white-space:nowrap}
.ends{display:flex;justify-content:space-between}
svg text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink)}
svg text.faint{fill:var(--faint)}
svg text.end{text-anchor:end}
svg text{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}svg text.inside{stroke:none;fill:var(--inside);text-anchor:middle;font-weight:600}
svg .area{fill:var(--area)}svg .line{fill:none;stroke:var(--line);stroke-width:1.5;vector-effect:non-scaling-stroke}
svg .window{stroke:var(--faint);stroke-width:.75;stroke-dasharray:3 3}
svg .base{stroke:var(--rule)}svg .leader{stroke:var(--faint);stroke-width:.75}
svg .tick,svg.ticks line{stroke:var(--boundary);stroke-width:1}
svg .dot{fill:var(--line)}
.mark{stroke-width:1.5;stroke:currentColor;fill:currentColor}.mark.hollow{fill:var(--paper)}
.mark.boundary{color:var(--boundary)}.mark.mid_work{color:var(--mid_work)}
.mark.emergency{color:var(--emergency)}.mark.own{color:var(--own)}
rect.boundary{fill:var(--boundary)}rect.mid_work{fill:var(--mid_work)}rect.emergency{fill:var(--emergency)}
.cached{fill:var(--cached);background:var(--cached)}.fresh{fill:var(--fresh);background:var(--fresh)}
rect{stroke:var(--paper);stroke-width:1}
.fill.tool_results{--fill:var(--tool_results)}.fill.tool_calls{--fill:var(--tool_calls)}
.fill.assistant{--fill:var(--assistant)}.fill.user{--fill:var(--user)}.fill.reasoning{--fill:var(--reasoning)}
.fill.system{--fill:var(--system)}.fill.summary{--fill:var(--summary)}.fill.attachments{--fill:var(--attachments)}
.fill.images{--fill:var(--images)}.fill.other{--fill:var(--other)}.fill.fixed{--fill:var(--overhead)}
${['counting', 'restored', 'margin', 'unexplained'].map((part, at) => `.fill.${part}{--fill:color-mix(in srgb,var(--overhead) ${80 - 18 * at}%,var(--paper))}`).join('')}
.fill{fill:var(--fill);background:var(--fill)}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.25rem 0 .5rem;font-size:.85rem;color:var(--faint)}
.legend span{display:inline-flex;align-items:center;gap:.35rem}
.sample{display:inline-block;width:12px;height:12px;flex:none}.sample.long{width:24px}
.box{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em;flex:none}
details{margin-top:.5rem;font-size:.9rem}
summary{cursor:pointer;color:var(--faint)}
.scroll{overflow-x:auto;margin-top:.5rem;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;min-width:100%}
th,td{text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
thead th{font-weight:600;color:var(--faint);white-space:nowrap}
tbody th{font-weight:500;white-space:nowrap}
td.number,th.number{text-align:right;white-space:nowrap}
td{white-space:nowrap}td:last-child{white-space:normal;min-width:14rem}
li{margin:.3rem 0;max-width:60rem;overflow-wrap:anywhere}
@media (max-width:600px){.gauge{grid-template-columns:44px minmax(0,1fr)}.gauge .name{grid-column:1/-1}
.bars{grid-template-columns:minmax(0,1fr) 7rem}.bars .name{grid-column:1/-1}}
@media print{details[open],details{display:block}details>*{display:block}}
`.replaceAll('\n', '');
