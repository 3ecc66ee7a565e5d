"""Reads figures that okra-report drew back from their SVG files."""
import base64, io, math, re
import xml.etree.ElementTree as tree

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"

class Figure:
    """Groups of an SVG by their names, and the way from a place on the page to a value."""
    def __init__(self, name, folder="figures"):
        self.root = tree.parse(f"{folder}/{name}.svg").getroot()
        self.title = self.root.find(SVG + "title").text

    def named(self, name):
        return [g for g in self.root.iter(SVG + "g") if g.get("id") == name]

    def points(self, group):
        """Of its markers; without any, of its path."""
        marks = [(float(u.get("x")), float(u.get("y"))) for u in group.iter(SVG + "use")]
        return marks or [tuple(map(float, p)) for p in re.findall(
            r"[ML] (\S+) (\S+)", next(group.iter(SVG + "path")).get("d"))]

    def texts(self):
        return ["".join(t.itertext()).strip() for t in self.root.iter(SVG + "text")]

    def axis(self, letter, log=False):
        """Values of the ticks, and a function from a place to a value."""
        ticks = {}
        for g in self.root.iter(SVG + "g"):
            if re.fullmatch(letter + r"tick_\d+", g.get("id") or ""):
                use, text = next(g.iter(SVG + "use")), next(g.iter(SVG + "text"))
                ticks[float("".join(text.itertext()))] = float(use.get(letter))
        pairs = sorted((v, p) for v, p in ticks.items() if not log or v > 0)
        (a, p), (b, q) = pairs[0], pairs[-1]
        f = math.log if log else float
        def value(at):
            v = f(a) + (at - p) / (q - p) * (f(b) - f(a))
            return math.exp(v) if log else v
        return ticks, value

    def picture(self, name):
        """Pixels of an embedded picture, rows x columns x 4 from 0 to 1, the top row first."""
        from matplotlib.image import imread
        group = self.named(name)
        image = next(group[0].iter(SVG + "image")) if group else next(
            i for i in self.root.iter(SVG + "image") if (i.get("id") or "").startswith(name))
        numbers = [float(v) for v in re.findall(r"-?[\d.]+(?:e-?\d+)?", image.get("transform") or "1 1")]
        upward = (numbers[3] if "matrix" in image.get("transform", "") else numbers[1]) < 0
        pixels = imread(io.BytesIO(base64.b64decode(image.get(LINK).split(",")[1])))
        return pixels[::-1] if upward else pixels

def near(got, want, room):
    assert len(got) == len(want) and all(abs(g - w) <= room for g, w in zip(got, want)), (got, want)
