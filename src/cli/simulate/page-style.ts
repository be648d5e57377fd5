/** How the page of a simulation looks, in the light and in the dark, on screens and on paper. */

export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--text:#17202e;--muted:#566072;--line:#dfe3ea;--spot:#0d9488;--demand:#6366f1;--warn:#b45309;--bad:#dc2626;--good-soft:#dcf3e1;--good-text:#14602e;--bad-soft:#fde0e0;--bad-text:#9b1c1c}
@media (prefers-color-scheme:dark){:root{--ground:#0d121b;--card:#161d29;--text:#e6eaf1;--muted:#9fabbd;--line:#2a3445;--spot:#2dd4bf;--demand:#818cf8;--warn:#f0a63a;--bad:#f87171;--good-soft:#14371f;--good-text:#8de0a6;--bad-soft:#4a1a1d;--bad-text:#fcaaaa}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main,header,footer{max-width:1880px;margin:0 auto;padding:0 20px}
header{padding-top:20px}
footer{padding-bottom:28px;color:var(--muted)}
h1{font-size:24px;margin:0 0 4px}
h2{font-size:18px;margin:28px 0 10px}
h3{font-size:15px;margin:0 0 6px}
.card h2{margin-top:0}
p{margin:4px 0}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
pre{margin:6px 0;padding:8px 10px;background:var(--ground);border-radius:6px;overflow-x:auto}
.muted{color:var(--muted)}
.runs{display:grid;gap:14px;grid-template-columns:minmax(0,1fr)}
@media (min-width:1240px){.runs.two{grid-template-columns:repeat(2,minmax(0,1fr))}}
.runs:not(.two){max-width:1160px}
.card{min-width:0;margin:0;padding:14px 16px;background:var(--card);border:1px solid var(--line);border-radius:10px}
.wide{overflow-x:auto}
.badge{display:inline-block;padding:1px 9px;border-radius:99px;font-size:13px;font-weight:600}
.good{background:var(--good-soft);color:var(--good-text)}
.bad{background:var(--bad-soft);color:var(--bad-text)}
.tiles{display:grid;gap:10px;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));margin:10px 0 0;padding:0}
.tiles div{padding:8px 10px;background:var(--ground);border-radius:8px}
.tiles dt{color:var(--muted);font-size:13px}
.tiles dd{margin:0;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}
table{width:100%;border-collapse:collapse;font-size:14px}
th,td{padding:5px 10px 5px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{font-weight:600}
tbody th{font-weight:400}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
svg{display:block;width:100%;min-width:620px;height:auto}
svg text{fill:var(--muted);font-size:12px}
.grid{stroke:var(--line)}
.line{fill:none;stroke:currentColor;stroke-width:1.8;vector-effect:non-scaling-stroke}
.area{fill:currentColor;fill-opacity:.78}
.mark{fill:currentColor}
.spot{color:var(--spot)}.demand{color:var(--demand)}.ink{color:var(--text)}.warn{color:var(--warn)}.harm{color:var(--bad)}.plain{color:var(--muted)}
.area.plain{fill-opacity:.28}
.line.plain{stroke-dasharray:5 4}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 8px;padding:0;list-style:none;font-size:13px}
.key{display:inline-block;width:14px;height:10px;margin-right:6px;border-radius:2px;background:currentColor}
.key.thin{height:3px;vertical-align:middle}
details{margin-top:8px;font-size:14px}
summary{cursor:pointer;color:var(--muted)}
:focus-visible{outline:2px solid var(--demand);outline-offset:2px}
@media print{.card{break-inside:avoid}}
`;
