//! What lies in the two folders before the day begins. Must not know what is asked for.

pub const PROJECT: &[(&str, &str)] = &[
    ("README.md", "# Shop\n\nSee [rounding](rounding.md).\n"),
    ("CHANGELOG.md", "# Changes\n\n- Taxes by country.\n"),
    ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1.2\"\n"),
    ("requirements.txt", ""),
    ("src/shop/__init__.py", "from .cart import Cart\nversion = \"1.2\"\n"),
    ("src/shop/cart.py", "class Cart:\n    # TODO: limits\n    pass\n"),
    ("src/shop/price.py", "def parse_price(text):\n    return float(text)\n"),
    (
        "src/shop/tax.py",
        "RATES = {'de': 19, 'at': 20, 'ch': 8}\n\n\ndef tax(country):\n    print(country)\n    return RATES[country]\n",
    ),
    (
        "tests/test_tax.py",
        "from shop.tax import tax\n\n\ndef test_tax():\n    assert tax('de') == 19\n",
    ),
    ("config/dev.ini", "[http]\ntimeout = 30\n"),
    ("config/prod.ini", "[http]\ntimeout = 5\n"),
    (
        "logs/access.log",
        "10.0.0.1 - - [22/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n10.0.0.2 - - [22/Nov/2026:10:00:01 +0000] \"GET /x HTTP/1.1\" 500 5\n",
    ),
    ("fixtures/orders.json", "[{\"id\": 1}, {\"id\": 2}]"),
    ("fixtures/users.json", "[]"),
    ("fixtures/rates.json", "{}"),
    ("build/shop.whl", "not a real one"),
];

pub const PAPERS: &[(&str, &str)] = &[
    ("letters/landlord.txt", "Dear Mrs Abel,\nthe heating is cold. Send somebody.\nAnna\n"),
    ("letters/2024-bank.txt", "Dear bank,\n"),
    ("letters/2024-tax.txt", "Dear tax office,\n"),
    ("bills/electricity.txt", "Total 81\nPaid 1 October\n"),
    ("bills/phone.txt", "Total 25\nPaid 3 October\n"),
    ("bills/plumber.txt", "Total 240\n"),
    ("photos/2023-berlin.jpg", "jpg 1"),
    ("photos/2023-garden.jpg", "jpg 2"),
    ("photos/2024-lake.jpg", "jpg 3"),
    ("photos/2024-snow.jpg", "jpg 4"),
    ("photos/2025-bike.jpg", "jpg 5"),
    ("photos/2025-cake.jpg", "jpg 6"),
    ("old/landlord-copy.txt", "Dear Mrs Abel,\nthe heating is cold. Send somebody.\nAnna\n"),
    ("old/LIST.TXT", "one\n"),
    ("old/empty.txt", ""),
    ("recipes/soup.md", "# Lentil soup\n\n250 g lentils, 2 carrots, 1 onion\n"),
    ("recipes/pancakes.md", "# Pancakes\n\nflour, milk, eggs\n"),
    (
        "talks/garden.md",
        "# The garden in winter\n\n## Roses\n\nCover them.\n\n## Leaves\n\nLeave them.\n",
    ),
    ("lists/dates.txt", "1 December dentist\n24 December evening\n"),
    ("scans/scan1.txt", "Insurance, until 31 December 2026"),
    ("scans/scan2.txt", "Contract of rent"),
    ("scans/scan3.txt", "Report of the school"),
    ("notes/photo.md", "My phone has 12 megapixel.\n"),
];
