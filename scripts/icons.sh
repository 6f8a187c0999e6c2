#!/bin/sh
# Draws the icons, assets/icons/*.png, from the SVG files beside them.
# Needs rsvg-convert (librsvg2-bin) and the font DejaVu Sans.
set -eu
cd "$(dirname "$0")/../assets/icons"

draw() { # NAME, with the SVG on the standard input
	svg=$(cat)
	for size in 22 32 48; do
		printf '%s' "$svg" | rsvg-convert -w "$size" -h "$size" -o "$1-$size.png"
	done
}

rm -f ./*.png
for name in running paused fault; do
	draw "tray-$name" <"tray-$name.svg"
done
for number in 1 2 3 4 5 6 7 8 9; do
	sed "s|>1</text>|>$number</text>|" tray-waiting.svg | draw "tray-waiting-$number"
done
sed 's|font-size="13.2"|font-size="9.4"|; s|y="20.2"|y="18.8"|; s|>1</text>|>9+</text>|' tray-waiting.svg | draw tray-waiting-9plus
rsvg-convert -w 256 -h 256 -o app-256.png app.svg
