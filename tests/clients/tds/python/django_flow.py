"""Django with mssql-django: migrations, models, queries, introspection, by their public interfaces.

The driver is pyodbc with Microsoft's ODBC driver, whose library TDS_ODBC_DRIVER names.
"""

import contextlib
import datetime
import decimal
import io
import json
import os
import sys
import textwrap
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path

import django
from django.conf import settings
from django.core import management

FOLDER = Path.cwd()
LIBRARY = FOLDER / "library"
DRIVER = "ODBC Driver 18 for SQL Server"
CHECKS: dict[str, Callable[[], None]] = {}

MODELS = """
    import uuid
    from django.db import models

    class Author(models.Model):
        name = models.CharField(max_length=40, db_index=True)
        email = models.EmailField(unique=True, null=True)
        age = models.PositiveSmallIntegerField(default=18)
        data = models.JSONField(default=dict)
        made = models.DateTimeField(auto_now_add=True)
        friends = models.ManyToManyField("self")

        class Meta:
            ordering = ["name"]
            constraints = [models.CheckConstraint(condition=models.Q(age__lte=150), name="author_age")]
            indexes = [models.Index(fields=["name", "-age"], name="author_name_age")]

    class Book(models.Model):
        id = models.UUIDField(primary_key=True, default=uuid.uuid4)
        title = models.CharField(max_length=200)
        author = models.ForeignKey(Author, models.CASCADE, related_name="books", null=True)
        price = models.DecimalField(max_digits=10, decimal_places=2, null=True)
        sold = models.DateField(null=True)
        length = models.DurationField(null=True)
        text = models.TextField(blank=True)
        cover = models.BinaryField(null=True)
        rating = models.FloatField(null=True)
        shown = models.BooleanField(default=True)
        opens = models.TimeField(null=True)
        labels = models.ManyToManyField("Label", related_name="books")

        class Meta:
            unique_together = [("title", "author")]

    class Label(models.Model):
        name = models.SlugField(primary_key=True)
"""


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__.replace("_", " ")] = function
    return function


def command(*words: str, **options: object) -> str:
    said = io.StringIO()
    management.call_command(*words, stdout=said, **options)
    return said.getvalue()


def write_models(text: str) -> None:
    (LIBRARY / "models.py").write_text(textwrap.dedent(text))


def set_up() -> None:
    # The name by which the backend knows Microsoft's driver.
    (FOLDER / "odbcinst.ini").write_text(f"[{DRIVER}]\nDriver={os.environ['TDS_ODBC_DRIVER']}\n")
    os.environ["ODBCSYSINI"] = str(FOLDER)
    LIBRARY.mkdir()
    (LIBRARY / "__init__.py").touch()
    (LIBRARY / "migrations").mkdir()
    (LIBRARY / "migrations/__init__.py").touch()
    write_models(MODELS)
    sys.path.insert(0, str(FOLDER))
    settings.configure(
        SECRET_KEY="of a test",
        USE_TZ=True,
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "library",
        ],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={
            "default": {
                "ENGINE": "mssql",
                "NAME": os.environ["TDS_DATABASE"],
                "HOST": "127.0.0.1",
                "PORT": os.environ["TDS_PORT"],
                "USER": "sa",
                "PASSWORD": os.environ["TDS_PASSWORD"],
                "OPTIONS": {
                    "driver": DRIVER,
                    "return_rows_bulk_insert": True,
                    "extra_params": "Encrypt=yes;TrustServerCertificate=yes",
                },
            }
        },
    )
    django.setup()


def equal(found: object, expected: object) -> None:
    assert found == expected, f"expected {expected!r}, found {found!r}"


def names(rows) -> list[str]:  # noqa: ANN001: of any model
    return [row.name for row in rows]


def fails(kind: type[Exception], act: Callable[[], object]) -> None:
    from django.db import transaction

    try:
        with transaction.atomic():
            act()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


@check
def the_version_is_known() -> None:
    from django.db import connection

    assert connection.sql_server_version >= 2017, connection.sql_server_version
    connection.ensure_connection()
    assert connection.is_usable()


@check
def makemigrations_and_migrate_make_all_tables() -> None:
    command("makemigrations", "library")
    command("migrate", "--no-input")
    from django.db import connection

    tables = connection.introspection.table_names()
    for name in ("auth_user", "django_session", "library_author", "library_book_labels", "library_author_friends"):
        assert name in tables, tables


@check
def migrate_again_has_nothing_to_do() -> None:
    assert "No migrations to apply" in command("migrate", "--no-input")
    equal(command("makemigrations", "--check", "--dry-run").strip(), "No changes detected")
    assert "[X] 0001_initial" in command("showmigrations", "library")


@check
def models_write_and_read_every_kind_of_field() -> None:
    from library.models import Author, Book

    ada = Author.objects.create(name="Ada", email="a@x", age=36, data={"theme": ["dark", 1], "deep": {"a": None}})
    row = {
        "title": "Notes \u2713",
        "price": decimal.Decimal("10.50"),
        "sold": datetime.date(2024, 2, 29),
        "length": datetime.timedelta(days=1, microseconds=5),
        "text": "x" * 9000,
        "cover": b"\x00\xff",
        "rating": 0.1,
        "shown": False,
        "opens": datetime.time(12, 34, 56, 789000),
    }
    key = Book.objects.create(author=ada, **row).pk
    assert isinstance(key, uuid.UUID)
    found = Book.objects.get(pk=key)
    for name, value in row.items():
        equal(bytes(found.cover) if name == "cover" else getattr(found, name), value)
    equal(found.author.data, {"theme": ["dark", 1], "deep": {"a": None}})
    assert abs(found.author.made - datetime.datetime.now(datetime.UTC)) < datetime.timedelta(days=1)


@check
def bulk_create_gives_keys() -> None:
    from library.models import Author, Book, Label

    made = Author.objects.bulk_create([Author(name="Brian", age=82), Author(name="Cleo", age=20, email="c@x")])
    assert all(one.pk for one in made)
    Label.objects.bulk_create([Label(name=f"label-{i}") for i in range(1500)], batch_size=500)
    equal(Label.objects.count(), 1500)
    brian = Author.objects.get(name="Brian")
    Book.objects.bulk_create([Book(title=f"Book {i}", author=brian, price=i) for i in range(5)])
    changed = list(Book.objects.filter(author=brian))
    for book in changed:
        book.price += 1
    equal(Book.objects.bulk_update(changed, ["price"]), 5)


@check
def queries_filter_order_and_cut() -> None:
    from django.db.models import Q
    from library.models import Author, Book

    equal(names(Author.objects.filter(age__gt=30)), ["Ada", "Brian"])
    equal(names(Author.objects.filter(Q(email=None) | Q(age=20))), ["Brian", "Cleo"])
    equal(names(Author.objects.exclude(name__icontains="R").order_by("-age")), ["Ada", "Cleo"])
    equal(names(Author.objects.filter(name__startswith="A", name__in=["Ada", "Brian"])), ["Ada"])
    equal(names(Author.objects.all()[1:2]), ["Brian"])
    equal(names(Author.objects.filter(books__title="Book 3")), ["Brian"])
    equal(Book.objects.filter(author__age__gte=80, price__range=(1, 3)).count(), 3)
    equal(Author.objects.filter(books__isnull=True).distinct().count(), 1)
    equal(Author.objects.values_list("name", flat=True).last(), "Cleo")
    equal(Author.objects.filter(made__year=datetime.datetime.now(datetime.UTC).year).count(), 3)
    equal([book.author.name for book in Book.objects.select_related("author").order_by("title")[:1]], ["Brian"])
    equal([len(one.books.all()) for one in Author.objects.prefetch_related("books")], [1, 5, 0])


@check
def queries_aggregate_and_annotate() -> None:
    from django.db.models import Avg, Case, CharField, Count, Exists, F, Max, OuterRef, Subquery, Sum, Value, When, Window
    from django.db.models.functions import Coalesce, Concat, Length, RowNumber, Upper
    from library.models import Author, Book

    equal(Author.objects.aggregate(Sum("age"), Avg("age"), Max("name")), {"age__sum": 138, "age__avg": 46, "name__max": "Cleo"})
    counted = Author.objects.annotate(n=Count("books")).filter(n__gt=0).order_by("-n").values_list("name", "n")
    equal(list(counted), [("Brian", 5), ("Ada", 1)])
    newest = Book.objects.filter(author=OuterRef("pk")).order_by("-price").values("title")[:1]
    equal(list(Author.objects.annotate(top=Subquery(newest)).values_list("top", flat=True)), ["Notes \u2713", "Book 4", None])
    equal(names(Author.objects.filter(Exists(Book.objects.filter(author=OuterRef("pk"))))), ["Ada", "Brian"])
    kinds = Author.objects.annotate(kind=Case(When(age__gt=50, then=Value("old")), default=Value("young")))
    equal(list(kinds.values_list("kind", flat=True)), ["young", "old", "young"])
    text = Author.objects.annotate(text=Concat(Upper("name"), Value(":"), Coalesce("email", Value("-"), output_field=CharField()))).values_list("text", flat=True)
    equal(list(text), ["ADA:a@x", "BRIAN:-", "CLEO:c@x"])
    equal(list(Author.objects.order_by(Length("name"), "name").values_list("name", flat=True)), ["Ada", "Cleo", "Brian"])
    ranked = Author.objects.annotate(place=Window(RowNumber(), order_by=F("age").desc())).values_list("name", "place")
    equal(dict(ranked), {"Brian": 1, "Ada": 2, "Cleo": 3})
    one, two = (Author.objects.filter(name=name).order_by() for name in ("Ada", "Cleo"))
    equal(one.union(two).count(), 2)


@check
def json_fields_are_searched() -> None:
    from library.models import Author

    equal(names(Author.objects.filter(data__theme__0="dark")), ["Ada"])
    equal(names(Author.objects.filter(data__has_key="deep")), ["Ada"])


@check
def update_delete_and_get_or_create() -> None:
    from django.db.models import F
    from library.models import Author, Book

    equal(Author.objects.filter(age__gt=30).update(age=F("age") + 1), 2)
    equal(Author.objects.get(name="Ada").age, 37)
    made, created = Author.objects.get_or_create(email="new@x", defaults={"name": "New"})
    again, more = Author.objects.get_or_create(email="new@x", defaults={"name": "Other"})
    equal((created, more, again.pk), (True, False, made.pk))
    changed, created = Author.objects.update_or_create(email="new@x", defaults={"name": "Changed"})
    equal((created, changed.name), (False, "Changed"))
    equal(made.delete()[0], 1)
    equal(Book.objects.filter(title__endswith="4").delete()[0], 1)


@check
def many_to_many_relations() -> None:
    from library.models import Author, Book, Label

    book = Book.objects.get(title="Notes \u2713")
    book.labels.set(Label.objects.filter(name__in=["label-1", "label-2"]))
    book.labels.add("label-3")
    equal(sorted(one.name for one in book.labels.all()), ["label-1", "label-2", "label-3"])
    equal(Label.objects.get(name="label-1").books.get(), book)
    book.labels.remove("label-3")
    equal(book.labels.count(), 2)
    ada, brian = Author.objects.get(name="Ada"), Author.objects.get(name="Brian")
    ada.friends.add(brian)
    equal(names(brian.friends.all()), ["Ada"])


@check
def constraints_are_integrity_errors() -> None:
    from django.db import IntegrityError
    from library.models import Author, Book

    fails(IntegrityError, lambda: Author.objects.create(name="x", email="a@x"))
    fails(IntegrityError, lambda: Author.objects.create(name="x", age=151))
    fails(IntegrityError, lambda: Author.objects.create(name=None))
    fails(IntegrityError, lambda: Book.objects.create(title="Notes \u2713", author=Author.objects.get(name="Ada")))
    Author.objects.create(name="second without an address").delete()
    equal(Author.objects.count(), 3)


@check
def transactions_and_savepoints() -> None:
    from django.db import transaction
    from library.models import Label

    with transaction.atomic():
        Label.objects.create(name="outer")
        with contextlib.suppress(ValueError), transaction.atomic():
            Label.objects.create(name="inner")
            raise ValueError
    equal([one.name for one in Label.objects.filter(name__in=["outer", "inner"])], ["outer"])
    with contextlib.suppress(ValueError), transaction.atomic():
        Label.objects.all().delete()
        raise ValueError
    equal(Label.objects.count(), 1501)
    with transaction.atomic():
        equal(Label.objects.select_for_update().get(name="outer").name, "outer")


@check
def users_and_sessions_of_its_own_applications() -> None:
    from django.contrib.auth import authenticate
    from django.contrib.auth.models import Group, User
    from django.contrib.sessions.backends.db import SessionStore

    user = User.objects.create_user("ada", password="of a test")
    user.groups.add(Group.objects.create(name="writers"))
    equal(authenticate(username="ada", password="of a test"), user)
    session = SessionStore()
    session["a"] = [1, "b"]
    session.save()
    equal(SessionStore(session.session_key)["a"], [1, "b"])


@check
def raw_queries_and_iterators() -> None:
    from django.db import connection
    from library.models import Author, Label

    equal(names(Author.objects.raw("SELECT * FROM library_author WHERE age > %s ORDER BY name", [30])), ["Ada", "Brian"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s, %s", [1, "it's"])
        equal(tuple(cursor.fetchone()), (1, "it's"))
    equal(sum(1 for _ in Label.objects.iterator(chunk_size=100)), 1501)


@check
def dumpdata_and_loaddata() -> None:
    from library.models import Author, Book

    before = sorted(Book.objects.values_list("title", "author__name"))
    command("dumpdata", "library", output=str(FOLDER / "dump.json"))
    Book.objects.all().delete()
    Author.objects.all().delete()
    command("loaddata", str(FOLDER / "dump.json"))
    equal(sorted(Book.objects.values_list("title", "author__name")), before)
    assert Author.objects.create(name="after", email="after@x").pk > Author.objects.get(name="Cleo").pk
    Author.objects.get(name="after").delete()


@check
def changed_models_migrate_up_and_down() -> None:
    from django.db import connection

    migrations = LIBRARY / "migrations"
    (migrations / "0002_changes.py").write_text(
        textwrap.dedent("""
        from django.db import migrations, models

        def fill(apps, editor):
            apps.get_model("library", "Author").objects.filter(name="Ada").update(nick="A")

        class Migration(migrations.Migration):
            dependencies = [("library", "0001_initial")]
            operations = [
                migrations.AddField("author", "nick", models.CharField(max_length=10, default="-", db_index=True)),
                migrations.AlterField("author", "name", models.CharField(max_length=80)),
                migrations.AlterField("book", "rating", models.DecimalField(max_digits=6, decimal_places=3, null=True)),
                migrations.RenameField("book", "title", "caption"),
                migrations.AddIndex("book", models.Index(fields=["price"], name="book_price")),
                migrations.AddConstraint("book", models.UniqueConstraint(
                    fields=["price"], condition=models.Q(price__gt=1000), name="book_dear")),
                migrations.RenameModel("Label", "Tag"),
                migrations.RunPython(fill, migrations.RunPython.noop),
                migrations.RemoveField("book", "opens"),
                migrations.AlterUniqueTogether("book", set()),
                migrations.RunSQL("CREATE VIEW shelf AS SELECT caption FROM library_book", "DROP VIEW shelf"),
            ]
        """)
    )
    command("migrate", "library", "0002", "--no-input")
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, nick FROM library_author ORDER BY name")
        equal([tuple(row) for row in cursor.fetchall()], [("Ada", "A"), ("Brian", "-"), ("Cleo", "-")])
        columns = {one.name for one in connection.introspection.get_table_description(cursor, "library_book")}
    assert "caption" in columns and "opens" not in columns and "title" not in columns, columns
    assert "library_tag" in connection.introspection.table_names()
    command("migrate", "library", "0001", "--no-input")
    with connection.cursor() as cursor:
        columns = {one.name for one in connection.introspection.get_table_description(cursor, "library_book")}
        equal("title" in columns and "opens" in columns, True)
        columns = {one.name for one in connection.introspection.get_table_description(cursor, "library_author")}
        equal("nick" in columns, False)
    (migrations / "0002_changes.py").unlink()


@check
def inspectdb_writes_models_of_the_tables() -> None:
    text = command("inspectdb", "library_author", "library_book", "auth_user")
    for line in (
        "class LibraryAuthor(models.Model):",
        "name = models.CharField(max_length=40",
        "email = models.CharField(unique=True, max_length=254",
        "id = models.CharField(primary_key=True, max_length=32",
        "price = models.DecimalField(max_digits=10, decimal_places=2",
        "author = models.ForeignKey(LibraryAuthor, models.DO_NOTHING, blank=True, null=True)",
        "sold = models.DateField(blank=True, null=True)",
        "unique_together = (('title', 'author'),)",
    ):
        assert line in text, f"{line!r} is not in\n{text}"


@check
def constraints_are_introspected() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "library_book")
        relations = connection.introspection.get_relations(cursor, "library_book")
        equal(relations, {"author_id": ("id", "library_author")})
        equal(connection.introspection.get_primary_key_column(cursor, "library_book"), "id")
        sequences = connection.introspection.get_sequences(cursor, "library_author")
    equal([one["column"] for one in sequences], ["id"])
    assert any(one["unique"] and one["columns"] == ["title", "author_id"] for one in found.values()), found
    assert any(one["foreign_key"] == ("library_author", "id") for one in found.values()), found


@check
def flush_empties_the_tables() -> None:
    from library.models import Author

    command("flush", "--no-input")
    equal(Author.objects.count(), 0)
    equal(Author.objects.create(name="first").pk, 1)


@check
def migrate_to_zero_drops_the_tables() -> None:
    from django.db import connection

    command("migrate", "library", "zero", "--no-input")
    equal([name for name in connection.introspection.table_names() if name.startswith("library")], [])


@check
def a_database_for_tests_is_made_and_destroyed() -> None:
    from django.db import connection

    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT DB_NAME()")
        equal(cursor.fetchone()[0], name)
    connection.creation.destroy_test_db(os.environ["TDS_DATABASE"], verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM sys.databases WHERE name = %s", [name])
        equal(cursor.fetchone()[0], 0)


def main() -> None:
    set_up()
    for name, run in CHECKS.items():
        error = None
        try:
            run()
        except Exception:
            error = traceback.format_exc()
        print(json.dumps({"check": name, "error": error}), flush=True)


if __name__ == "__main__":
    main()
